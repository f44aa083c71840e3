"""Assess, release and assess again: exposure against usefulness over privacy settings."""
