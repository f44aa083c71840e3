"""The same assessment and release on a cluster that runs Apache Spark."""
