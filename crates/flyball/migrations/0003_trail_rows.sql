-- Every row of the trail says what it is. Before, what a hook was asked and what an agent said of an
-- attempt were told apart by trying to read them.
UPDATE hook_trail SET body = json_set(
    body, '$.row', CASE WHEN json_type(body, '$.reported') IS NULL THEN 'hook' ELSE 'attempt' END
) WHERE json_valid(body);
-- Sessions outside of a run are looked up by name.
CREATE INDEX hook_trail_by_session ON hook_trail (session, key);
-- What hooks judged beside the run is asked at its door now. Older facts of that kind count as signs of
-- life; the trail still has what was said then.
UPDATE events SET body = json_set(body, '$.fact', json_object('fact', 'showed_life'))
WHERE kind = 'agent'
  AND json_extract(body, '$.fact.fact') IN ('hook_steered', 'hook_halted', 'stop_refused');
