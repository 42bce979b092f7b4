"""The protocol over HTTP (SyncProtocol.md in Sources/LarderRemote): a thin layer without a state of its own over the SQL functions.

Bodies go to PostgreSQL and back as they are. Any number of these processes serve one database.
"""

import asyncio
import contextlib
import json
import logging

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .database import Refusal, Turns, call, needs_sign_in, pool_of
from .hints import Listener
from .settings import settings_of_environment

log = logging.getLogger("larder")
settings = settings_of_environment()
NEVER_KEPT = {"cache-control": "no-store"}
ABOUT = {
    "protocol": 1,
    "capabilities": ["count", "manifest", "atomic", "hints", "scopes"],
    # Of 05-mutations.sql, 06-push.sql and 04-pull.sql.
    "limits": {
        "bodyBytes": settings.largest_body,
        "mutations": 1000,
        "documentBytes": 4 << 20,
        "documentLevels": 100,
        "pageDocuments": 5000,
    },
}


@contextlib.asynccontextmanager
async def lifespan(app: Starlette):
    # Begins without a database, too, and says 503 until it is there.
    pool = pool_of(settings)
    await pool.open(wait=False)
    listener = Listener(settings, pool)
    listening = asyncio.create_task(listener.run())
    app.state.pool = pool
    app.state.listener = listener
    app.state.turns = Turns(settings)
    yield
    listening.cancel()
    await pool.close(timeout=2)


def token_of(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise needs_sign_in()
    return token.strip()


async def body_of(request: Request) -> str:
    """The body as text. Never holds more than the limit, and does not wait for ever for a slow sender."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refusal(415, "malformed", "Bodies come without a content encoding.")
    too_large = Refusal(413, "too-large", f"A body has {settings.largest_body} bytes at most.")
    needs_check = True
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > settings.largest_body:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(settings.time_for_body):
            async for piece in request.stream():
                body += piece
                if needs_check and len(body) > 65536:
                    # Nobody who is not known may have much kept for them.
                    needs_check = False
                    await ask(request, "select ''")
                if len(body) > settings.largest_body:
                    raise too_large
        return body.decode()
    except TimeoutError:
        raise Refusal(408, "malformed", "The body took too long.") from None
    except UnicodeDecodeError as error:
        raise Refusal(400, "malformed", f"The body is no UTF-8 at byte {error.start}.") from None


async def ask(request: Request, statement: str, *arguments) -> str:
    token = token_of(request)
    async with request.app.state.turns.turn(token):
        return await call(request.app.state.pool, token, statement, *arguments)


def answer(text: str) -> Response:
    return Response(text, media_type="application/json", headers=NEVER_KEPT)


def function(name: str):
    async def endpoint(request: Request) -> Response:
        # Cheap before dear: nobody without a token has a body read.
        token_of(request)
        body = await body_of(request)
        return answer(await ask(request, f"select {name}(%s::json)::text", body))

    return endpoint


async def scopes(request: Request) -> Response:
    return answer(await ask(request, "select larder_scopes()::text"))


async def hints(request: Request) -> Response:
    readable = json.loads(await ask(request, "select larder_scopes()::text"))
    wanted = set(request.query_params.getlist("scope"))
    if not wanted or not wanted <= {entry["scope"] for entry in readable["scopes"]}:
        raise Refusal(403, "forbidden", "Name scopes that this user may read: ?scope=A&scope=B.")
    if len(wanted) > settings.most_scopes_of_a_stream:
        raise Refusal(413, "too-large", f"A stream follows {settings.most_scopes_of_a_stream} scopes at most.")
    listener = request.app.state.listener
    if listener.stream_count >= settings.most_streams:
        raise Refusal(503, "unavailable", "Too many streams.", retry_after=30)

    async def events():
        followed = listener.follow(wanted)
        try:
            yield ": hints\n\n"
            async with asyncio.timeout(settings.time_of_hints):
                while True:
                    waits = [asyncio.ensure_future(event.wait()) for event in followed.values()]
                    try:
                        await asyncio.wait(
                            waits,
                            timeout=settings.time_between_signs_of_life,
                            return_when=asyncio.FIRST_COMPLETED,
                        )
                    finally:
                        for wait in waits:
                            wait.cancel()
                    told = [scope for scope, event in followed.items() if event.is_set()]
                    for scope in told:
                        followed[scope].clear()
                        yield f"event: changed\ndata: {json.dumps({'scope': scope})}\n\n"
                    if not told:
                        yield ": still here\n\n"
        except TimeoutError:
            return
        finally:
            listener.leave(followed)

    return StreamingResponse(events(), media_type="text/event-stream", headers=NEVER_KEPT)


async def about(request: Request) -> Response:
    return JSONResponse(ABOUT, headers=NEVER_KEPT)


async def health(request: Request) -> Response:
    """200 where the database answers, so that a load balancer can ask."""
    try:
        async with request.app.state.pool.connection(timeout=2) as connection:
            await connection.execute("select larder.epoch()")
    except Exception as error:
        log.warning("unhealthy: %s", error)
        raise Refusal(503, "unavailable", "The database cannot answer now.", retry_after=2) from None
    return JSONResponse({"healthy": True, "name": settings.name}, headers=NEVER_KEPT)


async def refused(request: Request, refusal: Exception) -> Response:
    headers = dict(NEVER_KEPT)
    if isinstance(refusal, HTTPException):
        refusal = Refusal(refusal.status_code, "malformed", refusal.detail)
    if isinstance(refusal, ClientDisconnect):
        refusal = Refusal(400, "malformed", "The body broke off.")
    if refusal.retry_after is not None:
        headers["retry-after"] = str(refusal.retry_after)
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse(
        {"error": refusal.code, "message": refusal.message}, status_code=refusal.status, headers=headers
    )


async def failed(request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"error": "failed", "message": "The server made a mistake; its log has it."}, status_code=500
    )


app = Starlette(
    lifespan=lifespan,
    routes=[
        Route("/v1", about),
        Route("/v1/health", health),
        Route("/v1/pull", function("larder_pull"), methods=["POST"]),
        Route("/v1/push", function("larder_push"), methods=["POST"]),
        Route("/v1/count", function("larder_count"), methods=["POST"]),
        Route("/v1/manifest", function("larder_manifest"), methods=["POST"]),
        Route("/v1/scopes", scopes),
        Route("/v1/hints", hints),
    ],
    middleware=[Middleware(GZipMiddleware, minimum_size=1024, compresslevel=2)],
    exception_handlers={
        Refusal: refused,
        HTTPException: refused,
        ClientDisconnect: refused,
        Exception: failed,
    },
)
