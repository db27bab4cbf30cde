"""The answer to /start names the next step, and only that."""

from bot.text_start import welcome


def test_a_new_owner_is_led_from_an_agent_over_a_project_to_a_goal() -> None:
    first = welcome(projects=False, accounts=False).rich.text
    assert first.index("/accounts add main claude") < first.index("/projects add")
    assert "/new" not in first
    second = welcome(projects=False, accounts=True).rich.text
    assert "Next, add a project" in second
    assert "/accounts" not in second
    ready = welcome(projects=True, accounts=True).rich.text
    assert "/new" in ready
    assert "/projects" not in ready
