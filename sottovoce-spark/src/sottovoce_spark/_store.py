"""A folder for a release wherever Spark writes: through the file system that its address names."""

from functools import partial
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce_spark._noise import FOUND, describe_shards
from sottovoce_spark._output import Spark, SparkFolder, translate_refusals
from sottovoce_spark._read import literally
from sottovoce_spark.session import apply_settings
from sottovoce_spark.sharded_job import LocalStore, ReleaseStore
from sottovoce_spark.shards import Shard

_LOCAL = "file"


class SparkStore(SparkFolder):
    """A folder behind Spark's file systems, as a `ReleaseStore`."""

    @property
    def address(self) -> str:
        """Not its URI's text, in which a blank is %20, and which no longer names the folder."""
        return str(self._folder.toString())

    @property
    def local(self) -> Path | None:
        """Its path, where it is one of this machine."""
        uri = self._folder.toUri()
        return Path(str(uri.getPath())) if uri.getScheme() == _LOCAL else None

    def names(self) -> list[str]:
        """What is in it; nothing where it is not there."""
        with translate_refusals(self.address):
            if not self._system.exists(self._folder):
                return []
            return sorted(str(e.getPath().getName()) for e in self._system.listStatus(self._folder))

    def read(self, name: str) -> bytes | None:
        """The content of a small file in it, or None."""
        path = self._fs.Path(self._folder, name)
        with translate_refusals(self.address):
            if not self._system.exists(path):
                return None
            stream = self._system.open(path)
            try:
                return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()

    def write(self, name: str, content: bytes) -> None:
        """Put a file there under another name, and then give it its own.

        Where renaming is one step, so is this. An object store copies one small object instead,
        which appears whole or not at all, and only then removes the other.
        """
        if self.read(name) == content:
            return
        path, own = (self._fs.Path(self._folder, each) for each in (name, f".{name}.part"))
        with translate_refusals(self.address):
            self._system.mkdirs(self._folder)
            stream = self._system.create(own, True)
            try:
                stream.write(bytearray(content))
            finally:
                stream.close()
            if self._system.exists(path):
                self._system.delete(path, False)
            if not self._system.rename(own, path):
                raise InputError(f"cannot write into {self.address}.")

    def remove(self, name: str) -> None:
        """Remove a file or a folder in it."""
        path = self._fs.Path(self._folder, name)
        with translate_refusals(self.address):
            # Some systems raise nothing where they cannot.
            if not self._system.delete(path, True) and self._system.exists(path):
                raise InputError(f"cannot remove {name} from {self.address}; try again.")


def store_at(session: Spark, address: str) -> ReleaseStore:
    """The folder at ``address``, reached by its path where this machine has it."""
    there = SparkStore(session, address)
    return there if there.local is None else LocalStore(there.local)


def found_shards(session: Spark, address: str, folder: str) -> list[Shard]:
    """The shards in ``folder``, read back by the workers from where they lie, in their order."""
    with apply_settings(session):
        files = session.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
        content = files.load(literally(address)).select("path", "content")
        rows = content.mapInArrow(partial(describe_shards, folder), FOUND).collect()
    found = (Shard(**row.asDict()) for row in rows)
    return sorted((shard for shard in found if shard.documents), key=lambda shard: shard.first)
