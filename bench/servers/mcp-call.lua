-- The request of the suite mcp-call, for wrk: one call of a tool, without content that a list must change.
wrk.method = "POST"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"Oslo","days":3,"units":"metric"},"_meta":{"progressToken":7}}}'
