-- The request of the suite mcp-list, for wrk.
wrk.method = "POST"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
