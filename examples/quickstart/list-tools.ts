import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

// A whole MCP client: connects to the address given (the gateway of the quickstart if none), lists the tools, calls one.

const url = new URL(process.argv[2] ?? 'http://localhost:8080/mcp')
const client = new Client({ name: 'list-tools', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(url))

const { tools } = await client.listTools()
for (const { name, description } of tools) console.log(`${name.padEnd(20)} ${description}`)

const { content } = await client.callTool({ name: 'weather_forecast', arguments: { city: 'Oslo', days: 2 } })
for (const part of content) if (part.type === 'text') console.log(`\n${part.text}`)

await client.close()
