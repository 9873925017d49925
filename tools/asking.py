"""What the resolvers of all tools share: whether a client can be asked, in which protocol era, and what it answered."""

from typing import Any

from mcp.server.mcpserver import AcceptedElicitation, CancelledElicitation, Context, DeclinedElicitation

OUTCOMES = (AcceptedElicitation, DeclinedElicitation, CancelledElicitation)


def can_be_asked(context: Context) -> bool:
    """Whether the client shows forms; one that names no kind of elicitation means them."""
    capabilities = context.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def asked_by_rounds(context: Context) -> bool:
    """Whether a question is a result of its own, which the client answers in a further call (2026-07-28 and later).

    In the older era it is sent from the resolver, so that a client which advertises forms and cannot show them fails
    there, and is not taken for a no.
    """
    return (context.protocol_version or "") >= "2026-07-28"


def outcome_of(answer: Any) -> Any:
    """The client's answer: in the older era it is the resolver's own value, inside the one that the SDK makes of it."""
    inner = getattr(answer, "data", None)
    return inner if isinstance(inner, OUTCOMES) else answer
