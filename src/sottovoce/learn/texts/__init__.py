"""LOCALTEXT: documents at a peer as rows of numbers over features that all peers mean alike."""

from sottovoce.learn.texts.documents import Documents, Examples, NoDocumentsError, Table
from sottovoce.learn.texts.features import Features
from sottovoce.learn.texts.reading import read_labelled
from sottovoce.learn.texts.recipe import FeatureMap, TextRecipe
from sottovoce.learn.texts.sentences import sentences

__all__ = [
    "Documents",
    "Examples",
    "FeatureMap",
    "Features",
    "NoDocumentsError",
    "Table",
    "TextRecipe",
    "read_labelled",
    "sentences",
]
