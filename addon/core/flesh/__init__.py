"""Settings of flesh as plain values, and its elastic laws."""
