-- Every row of the trail says what it is. Before, what a hook was asked and what an agent said of an
-- attempt were told apart by trying to read them.
UPDATE hook_trail SET body = json_set(
    body, '$.row', CASE WHEN json_type(body, '$.reported') IS NULL THEN 'hook' ELSE 'attempt' END
) WHERE json_valid(body);
-- Sessions outside of a run are looked up by name.
CREATE INDEX hook_trail_by_session ON hook_trail (session, key);
