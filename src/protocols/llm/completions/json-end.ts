/** Whether an object or a list that arrives in pieces is complete. */
export class JsonEnd {
  #depth = 0
  #inString = false
  #isEscaped = false
  isReached = false

  read(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at)
      if (this.#inString) this.#readInString(character)
      else if (character === 0x22) this.#inString = true
      else if (character === 0x7b || character === 0x5b) this.#depth++
      else if ((character === 0x7d || character === 0x5d) && --this.#depth === 0) this.isReached = true
    }
  }

  #readInString(character: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (character === 0x5c) this.#isEscaped = true
    else if (character === 0x22) this.#inString = false
  }
}
