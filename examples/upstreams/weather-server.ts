import { fromJsonSchema, McpServer, type ServerContext } from '@modelcontextprotocol/server'

interface ForecastArguments {
  readonly city: string
  readonly days?: number
}

interface CityArguments {
  readonly city: string
}

const city = { type: 'string', minLength: 1, description: 'Name of a city' }

/** An MCP server with the tools `forecast` (sends progress, one step a day) and `alerts`, a resource and a prompt. */
export function weatherServer(): McpServer {
  const server = new McpServer(
    { name: 'weather', version: '1.0.0' },
    { instructions: 'Made-up weather: the same city has the same weather every time.' },
  )

  server.registerTool(
    'forecast',
    {
      title: 'Forecast',
      description: 'The weather of the next days in a city',
      inputSchema: fromJsonSchema<ForecastArguments>({
        type: 'object',
        properties: {
          city,
          days: { type: 'integer', minimum: 1, maximum: 7, description: 'How many days, 3 if unset' },
        },
        required: ['city'],
        additionalProperties: false,
      }),
      outputSchema: fromJsonSchema({
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: {
            type: 'array',
            items: {
              type: 'object',
              properties: { day: { type: 'integer' }, celsius: { type: 'integer' }, sky: { type: 'string' } },
              required: ['day', 'celsius', 'sky'],
            },
          },
        },
        required: ['city', 'days'],
      }),
      annotations: { readOnlyHint: true },
    },
    async ({ city, days: count = 3 }, context) => {
      const days = []
      for (let day = 1; day <= count; day++) {
        days.push(forecastDay(city, day))
        await tellProgress(context, day, count)
      }
      const lines = days.map(({ day, celsius, sky }) => `day ${day}: ${celsius} degrees, ${sky}`)
      return {
        content: [{ type: 'text', text: `${city}\n${lines.join('\n')}` }],
        structuredContent: { city, days },
      }
    },
  )

  server.registerTool(
    'alerts',
    {
      title: 'Alerts',
      description: 'Weather alerts in force in a city',
      inputSchema: fromJsonSchema<CityArguments>({
        type: 'object',
        properties: { city },
        required: ['city'],
        additionalProperties: false,
      }),
      annotations: { readOnlyHint: true },
    },
    ({ city }) => ({ content: [{ type: 'text', text: `no alerts for ${city}` }] }),
  )

  server.registerResource(
    'stations',
    'weather://stations',
    { title: 'Stations', description: 'Where the weather is measured', mimeType: 'application/json' },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(['Oslo', 'Quito', 'Perth']) }],
    }),
  )

  server.registerPrompt(
    'packing',
    {
      title: 'Packing list',
      description: 'Asks what to pack for a trip',
      argsSchema: fromJsonSchema<CityArguments>({ type: 'object', properties: { city }, required: ['city'] }),
    },
    ({ city }) => ({
      messages: [
        { role: 'user', content: { type: 'text', text: `What should I pack for ${city}? Look at the forecast.` } },
      ],
    }),
  )
  return server
}

const SKIES = ['sun', 'clouds', 'rain', 'snow', 'wind'] as const

/** The same answer for the same question: examples are compared with what the documentation prints. */
function forecastDay(city: string, day: number) {
  const seed = [...city].reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), day) % 9973
  return { day, celsius: (seed % 35) - 5, sky: SKIES[seed % SKIES.length] ?? 'sun' }
}

/** Only a caller that sent a progress token wants to hear. */
async function tellProgress({ mcpReq }: ServerContext, progress: number, total: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  const params = { progressToken, progress, total, message: `day ${progress} of ${total}` }
  await mcpReq.notify({ method: 'notifications/progress', params })
}
