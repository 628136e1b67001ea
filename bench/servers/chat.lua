-- The request of the suite llm, for wrk: about 300 bytes of chat completion.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = '{"model":"fast","messages":[{"role":"system","content":"You answer in one short paragraph, in plain words, without lists."},' ..
  '{"role":"user","content":"What is a reverse proxy, and what is it good for? About one hundred words will do."}],' ..
  '"temperature":0.2,"max_completion_tokens":256}'
