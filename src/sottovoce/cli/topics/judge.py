"""``sottovoce topics judge``: sheets written, votes read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._output import AsJson, progress, show_facts, show_json, show_rows
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sottovoce.topics.judgements.agreement import Agreement
    from sottovoce.topics.judgements.votes import Vote


def refuse_existing_key(key: Path) -> None:
    """Codes are random: without their key, votes on earlier sheets would be lost."""
    if key.exists():
        raise InputError(
            f"the key {key} exists already, and votes on its sheets need it; give another name, or "
            "remove it."
        )


def real_votes(paths: "Sequence[Path]", *, allow_missing: bool, drop_failed: bool) -> "list[Vote]":
    """The votes on real items; what was left out and why is said on standard error."""
    from sottovoce.topics.judgements.votes import read_votes, without_checks  # noqa: PLC0415 - keeps --help fast

    read = read_votes(paths, allow_missing=allow_missing)
    if read.missing:
        typer.echo(f"left out {read.missing} rows without an answer", err=True)
    real, failed = without_checks(read.votes)
    if failed:
        what = "left out" if drop_failed else "kept; --drop-failed leaves them out"
        typer.echo(f"{len(failed)} judges failed an attention check: {what}", err=True)
    if drop_failed:
        real = [vote for vote in real if vote.judge not in failed]
    if not real:
        keep = ", or leave --drop-failed out" if drop_failed else ""
        raise InputError(f"no vote is left; give more filled-in sheets{keep}.")
    return real


def agreement_facts(found: "Agreement") -> dict[str, object]:
    return {
        "items": found.items,
        "judges": found.judges,
        "votes": found.votes,
        "equal_judges": found.equal_judges,
        "kappa": found.kappa.kappa,
        "kappa_low": found.kappa.low,
        "kappa_high": found.kappa.high,
    }


def write_sheets(
    out: Path,
    columns: "Sequence[str]",
    rows: "Sequence[Mapping[str, object]]",
    *,
    split: bool,
    private: bool = False,
) -> list[Path]:
    from sottovoce.topics.judgements.votes import write_rows  # noqa: PLC0415 - keeps --help fast

    judges = dict.fromkeys(str(row["judge"]) for row in rows)
    if not split or not all(judges):
        write_rows(out, columns, rows, private=private)
        return [out]
    files = []
    for name in judges:
        files.append(out.with_name(f"{out.stem}-{name}{out.suffix}"))
        own = [row for row in rows if row["judge"] == name]
        write_rows(files[-1], columns, own, private=private)
    return files


def show_written(facts: "dict[str, object]", as_json: bool) -> None:
    if as_json:
        show_json(facts)
        return
    files = facts.pop("files")
    shown = ", ".join(map(str, files)) if isinstance(files, list) else files
    show_facts("Wrote sheets", {"files": shown, **facts})


# As in the judgements' own questions, which would slow down every --help.
TOPIC_JUDGES, PROFILE_JUDGES = 7, 5

judge = typer.Typer(
    help="The judgement study: sheets out, votes in, agreement, a judged catalogue.",
    no_args_is_help=True,
)

CatalogueArgument = Annotated[Path, typer.Argument(help="The catalogue of topics, in TOML.")]
VotesArgument = Annotated[list[Path], typer.Argument(help="Filled sheets, or lists of votes.")]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same order of rows.", min=0)]
ThresholdOption = Annotated[
    float, typer.Option(help="A topic is sensitive if more than this share of the judges says so.")
]
MissingOption = Annotated[
    bool, typer.Option("--allow-missing", help="Leave out rows and topics without an answer.")
]
DropOption = Annotated[
    bool, typer.Option("--drop-failed", help="Leave out judges who failed an attention check.")
]
SplitOption = Annotated[
    bool, typer.Option("--split", help="Write one file per judge, named OUT-judge-1.csv.")
]
PROFILE_WARNING = (
    "{files} files hold what people wrote, readable by you only. Show them to judges who may see "
    "it, not to a public platform unless the texts are public; delete them afterwards. The key "
    "{key} says who is who: keep it from the judges."
)


@judge.command("export")
def export_topics(
    catalogue: CatalogueArgument,
    *,
    out: Path,
    judges: int = TOPIC_JUDGES,
    seed: SeedOption = 0,
    checks: int = 0,
    split: SplitOption = False,
    as_json: AsJson = False,
) -> None:
    """Write sheets on which judges say of each topic whether it is sensitive, and its domain.

    A judge sees up to 20 words of each topic, in an order of their own, and not its name.

    Example: sottovoce topics judge export community/topics.toml --out sheets.csv --judges 7
    --split

    Args:
        out: The sheet to write, CSV.
        judges: How many judges; 0: one row per topic, for a crowdsourcing platform.
        checks: Attention checks per judge, at most 4.
    """
    from sottovoce.files import refuse_overlap  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.judgements.votes import PLATFORM_COLUMNS, SHEET_COLUMNS, topic_sheet  # noqa: PLC0415 - keeps --help fast

    refuse_overlap((out,), (catalogue,))
    loaded = Catalogue.load(catalogue)
    rows = topic_sheet(loaded, judges=judges, seed=seed, checks=checks)
    columns = SHEET_COLUMNS if judges else PLATFORM_COLUMNS
    files = write_sheets(out, columns, rows, split=split)
    show_written(
        {"files": files, "topics": len(loaded), "judges": judges, "rows": len(rows)}, as_json
    )


@judge.command("import")
def import_topics(
    catalogue: CatalogueArgument,
    votes: VotesArgument,
    *,
    out: Path,
    threshold: ThresholdOption = 0.5,
    allow_missing: MissingOption = False,
    drop_failed: DropOption = False,
    as_json: AsJson = False,
) -> None:
    """Put the judges' votes into the catalogue: sensitivity by majority, domain by plurality.

    If domains tie, the first of psychology, medicine, finance, family, law, society, other wins.

    Example: sottovoce topics judge import community/topics.toml sheets-*.csv
    --out judged.toml

    Args:
        out: The judged catalogue to write.
    """
    from sottovoce.files import refuse_overlap  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.judgements.agreement import judged_catalogue, judged_topics  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.judgements.votes import topic_votes  # noqa: PLC0415 - keeps --help fast

    refuse_overlap((out,), votes)
    loaded = Catalogue.load(catalogue)
    real = real_votes(votes, allow_missing=allow_missing, drop_failed=drop_failed)
    judged = judged_topics(
        loaded, topic_votes(real, loaded), threshold=threshold, allow_missing=allow_missing
    )
    judged_catalogue(loaded, judged).save(out)
    rows = [each.row() for each in judged]
    if as_json:
        show_json({"out": out, "topics": rows})
        return
    show_rows("judged topics", rows)
    sensitive = sum(each.sensitive for each in judged)
    typer.echo(f"Wrote {out}: {sensitive} of {len(judged)} judged topics sensitive.")


@judge.command("agreement")
def show_agreement(
    votes: VotesArgument,
    *,
    allow_missing: MissingOption = False,
    drop_failed: DropOption = False,
    as_json: AsJson = False,
) -> None:
    """Show how far judges agree: Fleiss' kappa, and topics by number of judges agreeing.

    Works for votes on topics and on profiles. Kappa's interval is over the choice of topics.

    Example: sottovoce topics judge agreement sheets-*.csv
    """
    from sottovoce.topics.judgements.agreement import agreement  # noqa: PLC0415 - keeps --help fast

    found = agreement(real_votes(votes, allow_missing=allow_missing, drop_failed=drop_failed))
    rows = [row.row() for row in found.table]
    facts = agreement_facts(found)
    if as_json:
        show_json({**facts, "table": rows})
        return
    show_facts("Agreement", facts)
    show_rows("items by number of judges who say sensitive", rows)


@judge.command("export-profiles")
def export_profiles(
    posts: Path,
    profiles: Path,
    *,
    out: Path,
    key: Path,
    with_texts: bool = False,
    sample: Annotated[int | None, typer.Option(min=1)] = None,
    base: float = 100.0,
    judges: int = PROFILE_JUDGES,
    seed: SeedOption = 0,
    split: SplitOption = False,
    as_json: AsJson = False,
) -> None:
    """Write sheets on which judges say of each profile whether its author is in a sensitive state.

    The sheets hold people's posts, oldest first, under random codes. Judges see texts, so the
    command asks for --with-texts.

    Example: sottovoce topics judge export-profiles community/posts.parquet ranks.parquet
    --sample 20 --out profiles.csv --split --key profiles.key --with-texts

    Args:
        posts: Posts: user, time, text.
        profiles: Whom to judge on which topic: user, topic; and score, for --sample.
        out: The sheet to write, CSV, readable by you only.
        key: File that says which code stands for whom.
        with_texts: Allow people's texts in the sheets.
        sample: Sample N users per topic, each with weight base^score.
        base: The base; take a higher one for more skewed scores.
        judges: How many judges; 0: one row per profile, for a crowdsourcing platform.
    """
    from sottovoce.cli.topics._profiles import read_profiles, require_consent  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read.corpus import open_posts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import refuse_overlap  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.judgements import profiles as study  # noqa: PLC0415 - keeps --help fast

    require_consent(with_texts)
    refuse_overlap((out, key), (posts, profiles))
    refuse_existing_key(key)
    coded = study.coded_profiles(read_profiles(profiles, sample=sample, base=base, seed=seed))
    with progress("Reading posts"):
        texts = study.posts_in_order(open_posts(posts), (profile.user for profile in coded))
    rows = study.profile_sheet(coded, texts, judges=judges, seed=seed)
    columns = study.PROFILE_COLUMNS if judges else study.PROFILE_PLATFORM_COLUMNS
    study.save_key(key, coded)
    files = write_sheets(out, columns, rows, split=split, private=True)
    typer.echo(PROFILE_WARNING.format(files=len(files), key=key), err=True)
    facts = {"files": files, "key": key, "profiles": len(coded), "judges": judges}
    show_written(facts, as_json)


@judge.command("import-profiles")
def import_profiles(
    votes: VotesArgument,
    *,
    key: Path,
    out: Path,
    threshold: ThresholdOption = 0.5,
    allow_missing: MissingOption = False,
    as_json: AsJson = False,
) -> None:
    """Turn votes on profiles into a truth: grade, the mean vote, and whether a majority said yes.

    Example: sottovoce topics judge import-profiles profiles-*.csv --key profiles.key
    --out truth.parquet

    Args:
        key: The key file that was written with the sheets.
        out: The truth to write, Parquet, readable by you only.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - keeps --help fast

    from sottovoce.files import refuse_overlap, whole_file  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.judgements.agreement import agreement  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.judgements.profiles import judged_truth, load_key, sensitive_users  # noqa: PLC0415 - keeps --help fast

    refuse_overlap((out,), (*votes, key))
    real = real_votes(votes, allow_missing=allow_missing, drop_failed=False)
    truth = judged_truth(real, load_key(key), threshold=threshold)
    with whole_file(out, private=True) as temporary:
        pq.write_table(truth, temporary, compression="zstd")
    rows, facts = sensitive_users(truth), agreement_facts(agreement(real))
    if as_json:
        show_json({"out": out, **facts, "topics": rows})
        return
    show_facts("Agreement", facts)
    show_rows("sensitive users", rows)
