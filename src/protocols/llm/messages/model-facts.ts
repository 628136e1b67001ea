import type { Effort } from '../conversation.ts'
import type { ThinkingFacts } from '../efforts.ts'

/** What a model of the messages family accepts. */
export interface MessagesModel extends ThinkingFacts {
  /** `temperature`, `top_p` and `top_k` are refused. */
  readonly refusesSampling: boolean
  /** `temperature` and `top_p` are refused together. */
  readonly takesOneSampling: boolean
  /** A last turn of the assistant is the beginning of the answer; otherwise it is refused. */
  readonly continuesTurn: boolean
  /** No tool can be forced. */
  readonly refusesForcedTool: boolean
}

const VERSION = String.raw`(\d)(?:[-.](\d{1,2}))?(?!\d)`
/** `claude-opus-4-5-20251101`, `claude-sonnet-4@20250514`, `anthropic.claude-fable-5-1-v1:0`; the older `claude-3-5-sonnet-20241022`. */
const NAME = new RegExp(`claude-(?:${VERSION}-)?([a-z]+)(?:-${VERSION})?`)

const LINES_THAT_ALWAYS_THINK = /^(?:fable|mythos)$/
const NEWEST = 99

const TO_HIGH: readonly Effort[] = ['low', 'medium', 'high']
const WITH_MAX: readonly Effort[] = [...TO_HIGH, 'max']
const ALL: readonly Effort[] = [...TO_HIGH, 'xhigh', 'max']

/** An unknown name is the newest of its line, or of the family. */
export function messagesModel(name: string): MessagesModel {
  const found = NAME.exec(name)
  const [, oldMajor, oldMinor, line = '', newMajor, newMinor] = found ?? []
  const major = oldMajor ?? newMajor
  const version = major === undefined ? NEWEST : Number(major) + Number(oldMinor ?? newMinor ?? 0) / 100
  return factsOf(line, version)
}

/** @param version 4.05 is 4.5, and 4.1 would be 4.10 */
function factsOf(line: string, version: number): MessagesModel {
  const thinksAlways = LINES_THAT_ALWAYS_THINK.test(line)
  return {
    thinking: thinkingOf(version),
    thinksUnasked: version >= 5,
    thinksAlways,
    efforts: effortsOf(line, version),
    refusesSampling: version >= 4.07,
    takesOneSampling: version >= 4.01,
    continuesTurn: version < 4.06,
    refusesForcedTool: thinksAlways && version >= 5.01,
  }
}

function thinkingOf(version: number): ThinkingFacts['thinking'] {
  if (version < 3.07) return 'never'
  return version < 4.06 ? 'budget' : 'adaptive'
}

function effortsOf(line: string, version: number): readonly Effort[] {
  if (version >= 4.07) return ALL
  if (version >= 4.06) return WITH_MAX
  return line === 'opus' && version >= 4.05 ? TO_HIGH : []
}
