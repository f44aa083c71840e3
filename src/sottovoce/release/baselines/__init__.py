"""What the paper compares with, kept apart: floats live here, and nothing here is ever released."""

from sottovoce.release.baselines.laplace import LaplaceBaseline
from sottovoce.release.baselines.local_geometric import LocalGeometricBaseline
from sottovoce.release.baselines.projection import ProjectionBaseline

__all__ = ["LaplaceBaseline", "LocalGeometricBaseline", "ProjectionBaseline"]
