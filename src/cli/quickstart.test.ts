import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'

test.each([
  [['nothing', '--port', '0'], 'there is no example server nothing; there are echo, llm, weather, notes, agent'],
  [['echo', '--port', '70000'], '--port 70000 is not a port number'],
  [['echo', '--port', ''], '--port  is not a port number'],
])('example-server %j: %s', async (words, message) => {
  expect(await gatewright(['example-server', ...words])).toEqual({
    code: 2,
    stdout: '',
    stderr: `gatewright: ${message}\n`,
  })
})
