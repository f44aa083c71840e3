"""The operator's view: everybody's rank. It is the attack tool, so it is off unless asked for."""

from fastapi import APIRouter


class Operator:
    def router(self) -> APIRouter:
        return APIRouter()
