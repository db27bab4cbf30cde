"""What can be asked of the engine: each verb, what it takes and what it gives.

Neighbours: server.py checks arguments by it, client.py reads answers by it, engine/door.py and
engine/requests/ do what is asked.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Struct

from engine.views import (
    AccountView,
    Attachment,
    Board,
    DecisionView,
    Document,
    FoundFile,
    KeyView,
    LeadSettings,
    MachineView,
    OfferView,
    OwnerView,
    Peek,
    PlanChoices,
    ProjectView,
    Row,
    RuleView,
)


class Arguments(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of what a verb takes: a misspelt name is refused, not ignored."""


class Nothing(Arguments, frozen=True):
    """Of a verb that takes none."""


class NewGoal(Arguments, frozen=True):
    project: str
    text: str
    by: str = "owner"
    files: tuple[Attachment, ...] = ()


class Hear(Arguments, frozen=True):
    """A line of the owner: for a goal, for the session a card is about, or for us to find out."""

    text: str
    goal: str = ""
    card: str = ""
    by: str = "owner"
    files: tuple[Attachment, ...] = ()
    line: str = ""  # the message it stood in, by which an edit finds it


class RewordLine(Arguments, frozen=True):
    """A line as its owner edited it."""

    line: str
    text: str


class Tap(Arguments, frozen=True):
    """A button of a card as it was shown: `revision` is the one the owner saw."""

    card: str
    revision: str
    verb: str
    text: str = ""
    files: tuple[Attachment, ...] = ()
    pin: str = ""  # as typed, for what takes it


class SetPin(Arguments, frozen=True):
    pin: str
    old: str = ""


class Joins(Arguments, frozen=True):
    owner: int
    name: str
    code: str


class OneOwner(Arguments, frozen=True):
    owner: int


class AllowsGroup(Arguments, frozen=True):
    chat: int
    title: str
    code: str


class OneGroup(Arguments, frozen=True):
    chat: int


class MovedGroup(Arguments, frozen=True):
    chat: int
    to: int


class PinIs(Arguments, frozen=True):
    pin: str = ""


class DocumentOf(Arguments, frozen=True):
    card: str
    what: str


class OfPlan(Arguments, frozen=True):
    plan: str


class ChangePlan(Arguments, frozen=True):
    """One piece of a plan as it was shown: see engine/rules/events.py's PlanChanged."""

    plan: str
    revision: str
    piece: int
    what: str
    value: str = ""
    after: tuple[int, ...] = ()


class Reword(Arguments, frozen=True):
    goal: str
    text: str


class OfCard(Arguments, frozen=True):
    card: str


class OfGoal(Arguments, frozen=True):
    goal: str = ""  # "" = all


class FileAt(Arguments, frozen=True):
    """A path in a goal's branch, or in that of the worker whose card it is."""

    path: str
    goal: str = ""
    card: str = ""


class OneGoal(Arguments, frozen=True):
    goal: str


class AddProject(Arguments, frozen=True):
    name: str
    source: str
    base: str = ""


class Named(Arguments, frozen=True):
    name: str


class SetCheck(Arguments, frozen=True):
    name: str
    text: str


class AddAccount(Arguments, frozen=True):
    name: str
    agent: str
    command: str = ""
    config_dir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    secret_env: tuple[str, ...] = ()
    login_command: str = ""


class Setting(Arguments, frozen=True):
    name: str
    value: str
    goal: str = ""  # "" = the owner's own


class ChangeLead(Arguments, frozen=True):
    """`what`: mode, go, model, tick or untick (a machine)."""

    goal: str
    what: str
    value: str


class ChangeBase(Arguments, frozen=True):
    name: str
    base: str


class ChangeCommand(Arguments, frozen=True):
    """`allowed` None: it is asked for anew."""

    name: str
    kind: str
    text: str
    allowed: bool | None


class OfProject(Arguments, frozen=True):
    project: str = ""  # "" = all


class Numbered(Arguments, frozen=True):
    number: int


class AtAddress(Arguments, frozen=True):
    address: str


class AddMachine(Arguments, frozen=True):
    """`fingerprint` is the host key's, as the owner accepted it."""

    name: str
    address: str
    max_runs: int = 4
    fingerprint: str = ""


class OfferMachine(Arguments, frozen=True):
    name: str
    address: str
    max_runs: int = 4


class PauseMachine(Arguments, frozen=True):
    name: str
    paused: bool


class OfAgent(Arguments, frozen=True):
    name: str
    agent: str


class SignIn(Arguments, frozen=True):
    """`sealed` is the token, sealed where it was typed."""

    name: str
    agent: str
    sealed: bytes


class AnswerLogin(Arguments, frozen=True):
    """`sealed` is what a login wants typed back, sealed where it was typed."""

    name: str
    sealed: bytes


class KeepSecret(Arguments, frozen=True):
    """`instead`: of what the name stood for, which was a half of it."""

    name: str
    sealed: bytes
    instead: bool = False


class Unseal(Arguments, frozen=True):
    sealed: bytes


class ScopeKey(Arguments, frozen=True):
    """Where a key may be used: "" everywhere, project/NAME, machine/NAME."""

    name: str
    scope: str


class AddKey(Arguments, frozen=True):
    """`sealed` is the value, sealed where it was typed; `fresh`: its name is only suggested."""

    name: str
    scope: str
    sealed: bytes
    fresh: bool = False


class RenameKey(Arguments, frozen=True):
    """`goal` and `card`: what the message was for that held it."""

    name: str
    new: str
    goal: str = ""
    card: str = ""


class JoinKeys(Arguments, frozen=True):
    """`rest` is what `name` is to end with: it is no key of its own from then on."""

    name: str
    rest: str


class NoSecret(Arguments, frozen=True):
    """`goal` and `card`: what the message was for that held it."""

    name: str
    goal: str = ""
    card: str = ""


class DecisionsSince(Arguments, frozen=True):
    """Unix seconds; of one goal, or "" = of all; past a number."""

    since: float = 0.0
    goal: str = ""
    after: int = 0


class FollowChanges(Arguments, frozen=True):
    notes_after: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0  # as SQLite counts


class Verb(Struct, frozen=True):
    """What a verb takes and gives.

    changes      it is passed a cause
    patience_s   how long it may take where that is longer than calls do
    """

    takes: type[Arguments]
    gives: Any = Any
    changes: bool = False
    patience_s: float = 0.0


VERBS: Final[dict[str, Verb]] = {
    "new_goal": Verb(NewGoal, changes=True),
    "hear": Verb(Hear, changes=True),
    "tap": Verb(Tap, changes=True),
    "document": Verb(DocumentOf, Document),
    "file": Verb(FileAt, FoundFile, patience_s=60),
    "plan_choices": Verb(OfPlan, PlanChoices),
    "change_plan": Verb(ChangePlan, changes=True),
    "peek": Verb(OfCard, Peek),
    "reword_goal": Verb(Reword, changes=True),
    "reword_line": Verb(RewordLine, changes=True),
    "stop": Verb(OfGoal, changes=True),
    "resume": Verb(OfGoal, changes=True),
    "board": Verb(Nothing, Board),
    "asks": Verb(Nothing, tuple[Row, ...]),
    "projects": Verb(Nothing, tuple[ProjectView, ...]),
    "add_project": Verb(AddProject, changes=True, patience_s=1800),  # clones it
    "want_project": Verb(AddProject, changes=True),
    "set_check": Verb(SetCheck, changes=True),
    "set_ports": Verb(SetCheck, changes=True),
    "remove_project": Verb(Named, changes=True),
    "rules": Verb(OfProject, tuple[RuleView, ...]),
    "revoke_rule": Verb(Numbered, changes=True),
    "machines": Verb(Nothing, tuple[MachineView, ...]),
    "offer_machine": Verb(OfferMachine, changes=True, patience_s=60),
    "offers": Verb(Nothing, tuple[OfferView, ...]),
    "take_machine": Verb(Named, changes=True, patience_s=180),  # sends it our node
    "leave_machine": Verb(Named, changes=True),
    "pause_machine": Verb(PauseMachine, changes=True),
    "look_at_machine": Verb(AtAddress, patience_s=60),
    "add_machine": Verb(AddMachine, changes=True, patience_s=180),  # sends it our node
    "check_machine": Verb(Named, patience_s=120),
    "remove_machine": Verb(Named, changes=True),
    "accounts": Verb(Nothing),
    "account_views": Verb(Nothing, tuple[AccountView, ...]),
    "may_add_account": Verb(OfAgent),
    "sign_in": Verb(SignIn, changes=True),
    "add_account": Verb(AddAccount, changes=True),
    "want_account": Verb(OfAgent, changes=True),
    "log_in": Verb(Named, changes=True),
    "answer_login": Verb(AnswerLogin, changes=True),
    "remove_account": Verb(Named, changes=True),
    "keep_secret": Verb(KeepSecret, changes=True),
    "keys": Verb(Nothing, tuple[KeyView, ...]),
    "own_keys": Verb(Nothing, tuple[KeyView, ...]),
    "scope_key": Verb(ScopeKey, changes=True),
    "may_add_key": Verb(Named),
    "add_key": Verb(AddKey, changes=True),
    "rename_key": Verb(RenameKey, changes=True),
    "join_keys": Verb(JoinKeys, changes=True),
    "no_secret": Verb(NoSecret, changes=True),
    "forget_key": Verb(Named, changes=True),
    "unseal": Verb(Unseal, bytes),
    "health": Verb(Nothing),
    "settings": Verb(Nothing, OwnerView),
    "lock": Verb(Nothing, changes=True),
    "unlock": Verb(Nothing, changes=True),
    "pin_may_be": Verb(PinIs),
    "set_pin": Verb(SetPin, changes=True),
    "invite_owner": Verb(PinIs, changes=True),
    "owner_joined": Verb(Joins, changes=True),
    "remove_owner": Verb(OneOwner, changes=True),
    "invite_group": Verb(PinIs, changes=True),
    "group_allowed": Verb(AllowsGroup, changes=True),
    "take_group": Verb(OneGroup, changes=True),
    "group_left": Verb(OneGroup, changes=True),
    "group_moved": Verb(MovedGroup, changes=True),
    "take_goal": Verb(OneGoal, changes=True),
    "pin_off": Verb(PinIs, changes=True),
    "audit": Verb(DecisionsSince, tuple[DecisionView, ...]),
    "change_setting": Verb(Setting, changes=True),
    "lead_settings": Verb(OneGoal, LeadSettings),
    "change_lead": Verb(ChangeLead, changes=True),
    "change_base": Verb(ChangeBase, changes=True, patience_s=120),  # reads the repository
    "change_command": Verb(ChangeCommand, changes=True),
}
