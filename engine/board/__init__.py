"""States -> cards: all the owner can see of a goal, computed afresh from its streams.

Pure: `cards(world, goal)` for one goal, `general(world)` for what belongs to none, `board(world)` for
/status. `world` is every stream's state by name. The types are in engine/views.py, the words in the
bot. A file for each card; every_card.py puts them together, looking.py is how the states are read.
"""

from engine.board.aside_card import ASIDE, aside_cards, aside_id, named
from engine.board.every_card import cards, everything, general
from engine.board.looking import Doing, World, goal_of, goals, of_goal
from engine.board.rows import board

__all__ = [
    "ASIDE",
    "Doing",
    "World",
    "aside_cards",
    "aside_id",
    "board",
    "cards",
    "everything",
    "general",
    "goal_of",
    "goals",
    "named",
    "of_goal",
]
