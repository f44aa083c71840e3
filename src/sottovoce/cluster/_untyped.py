"""The name for whatever belongs to Spark, whose types an extra need not have brought."""

from typing import Any, TypeAlias

Spark: TypeAlias = Any
"""A session, a table, a column, a Java object behind one: the parameter's name says which."""
