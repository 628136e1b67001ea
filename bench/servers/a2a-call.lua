-- The request of the suite a2a-call, for wrk: one message to an agent.
wrk.method = "POST"
wrk.body = '{"jsonrpc":"2.0","id":"call-1","method":"message/send","params":{"message":{"kind":"message","messageId":"m-0001","role":"user","parts":[{"kind":"text","text":"What is the weather in Oslo during the next three days?"}]}}}'
