"""`job list` and `job retry`, on a database without a worker."""

from pathlib import Path

import psycopg

from support.command_line import Forker, Program


def test_failed_jobs_are_listed_and_queued_again(database_url: str, tmp_path: Path, forker: Forker) -> None:
    tradecounter = Program(tmp_path, database_url, forker)
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "insert into procrastinate_jobs (queue_name, task_name, status, args) values"
            " ('default', 'mail_order_confirmed', 'failed', '{\"order_id\": 7}'),"
            " ('default', 'mail_order_confirmed', 'todo', '{}')"
        )
    [failed] = tradecounter.json("job", "list", "--failed")
    assert (failed["name"], failed["state"]) == ("mail_order_confirmed", "failed")
    assert failed["arguments"] == {"order_id": 7}
    job = str(failed["id"])
    assert tradecounter.json("job", "retry", job)["state"] == "todo"
    assert tradecounter.error("job", "retry", job) == f"job {job} has not failed: its state is todo"
    assert [each["state"] for each in tradecounter.json("job", "list")] == ["todo", "todo"]
    assert tradecounter.json("job", "list", "--failed") == []
    assert tradecounter.error("job", "retry", "999999") == "job 999999 not found"
    with psycopg.connect(database_url) as connection:
        audited = connection.execute("select action, actor_kind from audit_entry where subject = %s", [f"job/{job}"])
        assert audited.fetchall() == [("job.retry", "command_line")]
