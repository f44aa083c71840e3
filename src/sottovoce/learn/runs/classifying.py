"""A run that classifies one peer's rows."""

from sottovoce.learn.runs import values
from sottovoce.learn.runs.agreeing import WrongExamplesError
from sottovoce.learn.runs.calling import called, check_training, labels_from_signs, trained_rows
from sottovoce.learn.runs.holdings import Holdings
from sottovoce.learn.runs.records import VERSION, Record, Trained, check_version, read_trained
from sottovoce.learn.runs.terms import RunTerms
from sottovoce.learn.runs.training import RunScript


def classify_plan(terms: RunTerms) -> tuple[str, ...]:
    """The stages of a query; there are none where everybody has the classifier."""
    if terms.mode == "open":
        return ()
    from sottovoce.learn.runs.querying import query_plan  # noqa: PLC0415 - masks need no gmpy2

    return query_plan(terms, terms.asker)


def classifying_peer(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """The asking peer's part: it ends with a label for each row."""
    trained = brought_training(name, terms, holdings)
    examples = holdings.wanted_examples(name)
    rows = trained_rows(trained, examples)
    if len(rows) != terms.rows:
        raise WrongExamplesError(
            f"{name} must bring the {terms.rows} rows that this run is about, got {len(rows)}."
        )

    def script() -> RunScript:
        if terms.mode == "open":
            labels = called(trained, examples)
        else:
            from sottovoce.learn.runs.querying import asking  # noqa: PLC0415 - likewise

            signs = yield from asking(name, terms, trained, rows)
            labels = labels_from_signs(signs, trained.labels)
        return {**head(terms), "labels": labels}

    return script()


def classifying_helper(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A helper's part: it ends with its record of the training, the budget spent."""
    from sottovoce.learn.runs.querying import scoring  # noqa: PLC0415 - likewise

    record, key = brought_record(name, terms, holdings), holdings.wanted_key(name)

    def script() -> RunScript:
        training = yield from scoring(name, terms, terms.asker, key, record)
        return {**head(terms), "training": training}

    return script()


def brought_training(name: str, terms: RunTerms, holdings: Holdings) -> Trained:
    """A peer's result of the training that the run names."""
    trained = read_trained(holdings.wanted_earlier(name))
    check_training(trained.session, terms, name)
    return trained


def brought_record(name: str, terms: RunTerms, holdings: Holdings) -> Record:
    """A helper's."""
    record = dict(holdings.wanted_earlier(name))
    check_version(record, "train")
    check_training(values.item(record, "session", bytes), terms, name)
    return record


def head(terms: RunTerms) -> Record:
    """What every result starts with."""
    return {
        "version": VERSION,
        "kind": terms.kind,
        "mode": terms.mode,
        "session": terms.session,
    }
