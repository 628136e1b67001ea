import type { StreamFormat } from '../stream-format.ts'
import { DetectReader } from './response.ts'

/** A stream of unknown format: read as far as it can be, and never added to. */
export class DetectStream extends DetectReader implements StreamFormat {
  readonly finishMember = ''
  readonly readsAll = true

  isEnd(): boolean {
    return false
  }

  isOutput(): boolean {
    return true
  }

  isUsageOnly(): boolean {
    return false
  }

  formatBreak(): string {
    return ''
  }
}
