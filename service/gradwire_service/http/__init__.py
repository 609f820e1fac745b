"""HTTP/1.1 connections under uvicorn: limits, timeouts, malformed requests, CORS."""
