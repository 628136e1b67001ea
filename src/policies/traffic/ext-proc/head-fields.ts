import { bytesOf, fromByteText } from '#base/byte-text.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'
import type { HeaderFields } from './messages.ts'

type Field = NonNullable<HeaderFields['headers']>[number]

/** The head of a request, as the processor sees it: the start line as pseudo-headers, then all fields. */
export function requestFields({ request, scheme }: Exchange): HeaderFields {
  const { method, authority, target } = request
  const fields = [pseudo(':method', method), pseudo(':scheme', scheme), pseudo(':authority', authority)]
  fields.push(pseudo(':path', target))
  request.each((name, value) => {
    if (name !== 'host') fields.push({ key: name, rawValue: bytesOf(value) })
  })
  return { headers: fields }
}

export function responseFields(response: Head): HeaderFields {
  return { headers: [pseudo(':status', String(response.status)), ...fieldsOf(response)] }
}

export function trailerFields(trailers: Head): HeaderFields {
  return { headers: fieldsOf(trailers) }
}

function pseudo(key: string, value: string): Field {
  return { key, value: fromByteText(value) }
}

function fieldsOf(head: Head): Field[] {
  const fields: Field[] = []
  head.each((name, value) => void fields.push({ key: name, rawValue: bytesOf(value) }))
  return fields
}
