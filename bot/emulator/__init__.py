"""A strict Bot API on 127.0.0.1, and the phone of the person at the other end.

For the demo and for tests: an unmodified bot, written with any library, talks to it over
HTTP and meets Telegram's limits and errors, word for word. Only the methods this project
calls exist; anything else is 404, and what the published API does not know is refused.

    async with Emulator(token="1:test", owner_id=42) as emulator:
        ...                                      # base URL: f"{emulator.url}/bot"
        emulator.phone.send("/new shop add a cart")
        card = await emulator.phone.wait_for(lambda m: "Start" in m.labels)
        tap = emulator.phone.tap(card, "Start")
        await emulator.phone.answered(tap)

    Emulator(*, token, owner_id, threaded=False, users_create_topics=False, flood=True,
             clock=time.time, state=None, secret="", hint="")
      start(port=0), stop(), url, control_url, page_url
      phone       the owner: send, reply, document, photo, edit, delete, react, tap, copy,
                  topics, groups, block; messages, heard, transcript; wait_for, until, answered
      faults      bad weather: flood, error, gateway, odd, tear, silence, cut, slow; revoked, webhook
      updates     mischief with updates: lose, reverse, repeat, interrupt (a second poller)
      calls       what the bot asked for and was answered; calls_of(method)
      notes       what the real server forgives in silence: a careful bot leaves it empty
      ignored_waits   calls made during a wait the bot had been told to keep

threaded              the bot's private chats have topics
users_create_topics   what a person writes outside every topic opens one
flood                 the limits per chat hold; without, everything may be said at once
clock                 judges ages, expiry and limits; waiting itself is in real time
state                 a JSON file the world is kept in
hint                  what the page offers to write in an empty chat

As a process of its own: `python -m bot.emulator --owner 42 --token 1:test`.

    server.py    HTTP, one call from start to end        control.py  the phone as JSON
    schema.py    parameters, from schema.json            phone.py    the person's side
    methods.py   messages.py topics.py  what calls do    cloud.py    changes the world
    texts.py html_mode.py keyboards.py  what is refused  world.py    the data
    updates.py   the queue, offsets, 409                 view.py     the data as JSON
    flood.py     limits                                  faults.py   bad weather
    refusal.py   errors                              page.py     the phone as a web page

Differs from the real one, knowingly: HTML is the only parse mode read; files cannot be
sent by URL; the pause for polls that come too often is left out; button kinds that need
other services (games, payments, web apps, logins) are refused.
"""

from bot.emulator.keyboards import Button
from bot.emulator.phone import Phone
from bot.emulator.server import Call, Emulator
from bot.emulator.world import Message, Tap, Topic

__all__ = ["Button", "Call", "Emulator", "Message", "Phone", "Tap", "Topic"]
