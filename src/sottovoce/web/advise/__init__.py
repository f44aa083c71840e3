"""The advisor page: where one person stands, on their own machine.

Begin with `app`, the application and what guards it; `session` is what one person has brought.
"""
