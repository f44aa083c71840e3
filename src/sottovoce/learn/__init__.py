"""One classifier across several holders of private text: state machines without I/O."""
