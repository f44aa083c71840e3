"""Function words of English, a public list: it says nothing about any corpus."""

from pathlib import Path

from sottovoce.corpus.words.characters import fold_case
from sottovoce.errors import ParameterError
from sottovoce.files import cause_of

_WORDS = """
    about above after again against all almost also although always am among an and another any are
    around as at away back be because been before being below between both but by came can cannot
    come could did do does doing done down during each either else enough even ever every few for
    from further get gets getting go goes going gone got had has have having he her here hers
    herself him himself his how however if in indeed instead into is it its itself just least less
    let like ll made make many may me might mine more most much must my myself neither never no nor
    not now of off often on once one only or other others our ours ourselves out over own per
    perhaps quite rather re really said same say says see seem seems several shall she should since
    so some such than that the their theirs them themselves then there therefore these they this
    those though through thus to together too toward towards under until up upon us used using
    usually ve very was we well were what whatever when whenever where whether which while who whom
    whose why will with within without would yes yet you your yours yourself yourselves
    """
ENGLISH = frozenset(_WORDS.split())
STOP_WORDS = {"english": ENGLISH}


def load_stop_words(name_or_file: str | None) -> frozenset[str]:
    """The list of that name, or the words of that file, one a line; none for None."""
    if name_or_file is None:
        return frozenset()
    if name_or_file in STOP_WORDS:
        return STOP_WORDS[name_or_file]
    try:
        lines = Path(name_or_file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(STOP_WORDS)
        raise ParameterError(
            f"stop words must be one of {known} or a readable file, got {name_or_file!r} "
            f"({cause_of(error, 'it is no UTF-8 text')})."
        ) from None
    return frozenset(fold_case(line.strip()) for line in lines if line.strip())
