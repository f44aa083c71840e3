"""The rank server: it takes noised or shared reports and publishes histograms.

It stores no identity, no address, no time of arrival, and no value that is neither noised nor
one of two shares.
"""
