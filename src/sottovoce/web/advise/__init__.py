"""The advisor page: where one person stands, on their own machine.

Begin with `_app`, the application and what guards it; `_session` is what one person has brought.
"""
