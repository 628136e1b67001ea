import { randomBytes } from 'node:crypto'
import { createRequestStateCodec, McpServer, type ServerNotifier } from '@modelcontextprotocol/server'
import { memorySkillFiles, SkillCatalog } from '@modelcontextprotocol/server/ext/skills'
import type { Upstream } from '#examples/upstreams/listen.ts'
import { serveBothEras } from '../serve-both-eras.ts'
import { registerContentTools } from './content.ts'
import { registerDocuments } from './documents.ts'
import { registerQuestionTools } from './questions.ts'
import { registerRounds } from './rounds.ts'
import { says } from './samples.ts'
import { registerTaskTools, TASKS, withTasks } from './tasks.ts'

/**
 * Starts a server made with the official SDK that offers what the scenarios of the conformance suite name, in both eras. It does not
 * validate Host and Origin: that is the gateway's part.
 */
export async function startEverything(): Promise<Upstream> {
  const skills = await SkillCatalog.load(memorySkillFiles({ 'greeting/SKILL.md': SKILL }))
  const state = createRequestStateCodec({ key: randomBytes(32) })
  const capabilities = {
    logging: {},
    completions: {},
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    extensions: { [TASKS]: {} },
  }
  const options = { capabilities, requestState: { verify: state.verify } }
  const build = (notify: ServerNotifier) => {
    const server = new McpServer({ name: 'everything', version: '1.0.0' }, options)
    registerContentTools(server)
    registerQuestionTools(server)
    registerRounds(server, state)
    registerDocuments(server)
    registerTaskTools(server)
    registerTriggers(server, notify)
    skills.attach(server)
    return server
  }
  return serveBothEras({ name: 'everything', build, wrap: withTasks })
}

const SKILL = '---\nname: greeting\ndescription: Greets whoever comes\n---\nSay hello.\n'

/** Tools that say that a list has changed. */
function registerTriggers(server: McpServer, notify: ServerNotifier): void {
  server.registerTool('test_trigger_tool_change', { description: 'Changes the list of tools' }, () => {
    notify.toolsChanged()
    return says('changed')
  })
  server.registerTool('test_trigger_prompt_change', { description: 'Changes the list of prompts' }, () => {
    notify.promptsChanged()
    return says('changed')
  })
}
