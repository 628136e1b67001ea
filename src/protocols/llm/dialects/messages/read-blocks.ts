import type { Citation } from '../../chat/answer-sink.ts'
import { textAt } from '../../json/read-value.ts'

/**
 * A citation of any of the vendor's kinds. Their positions are those in the source, so there are none in the text of the answer.
 */
export function readCitation(citation: unknown): Citation {
  return {
    url: textAt(citation, 'url') ?? textAt(citation, 'source'),
    title: textAt(citation, 'title') ?? textAt(citation, 'document_title'),
    text: textAt(citation, 'cited_text'),
    start: undefined,
    end: undefined,
  }
}
