import type { Hex } from 'viem'

/** Splits a result or the data of an event into 32-byte words. */
export function wordsOf(hex: Hex): readonly bigint[] {
  const words: bigint[] = []
  for (let at = 2; at + 64 <= hex.length; at += 64) words.push(BigInt(`0x${hex.slice(at, at + 64)}`))
  return words
}

export const wordAt = (words: readonly bigint[], index: number): bigint => words[index] ?? 0n
/** The first word of an answer; null without an answer. */
export const firstWord = (answer: Hex | null | undefined): bigint | null => (answer ? wordAt(wordsOf(answer), 0) : null)
/** As `firstWord`, but 0 without an answer. */
export const numberOf = (answer: Hex | null | undefined): bigint => firstWord(answer) ?? 0n
export const addressOf = (word: bigint): string => `0x${(word & ((1n << 160n) - 1n)).toString(16).padStart(40, '0')}`
export const signed = (word: bigint, bits: number): bigint => BigInt.asIntN(bits, word)
export const toWord = (value: bigint | number): string =>
  BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
/** Encodes a call whose arguments are single words. */
export const callOf = (selector: Hex, ...args: readonly (bigint | number | string)[]): Hex =>
  `${selector}${args.map((arg) => toWord(typeof arg === 'string' ? BigInt(arg) : arg)).join('')}`

/** A dynamic array of words; the word at `place` is its offset. */
export function listOf(words: readonly bigint[], place: number): readonly bigint[] {
  const start = Number(wordAt(words, place) / 32n)
  return words.slice(start + 1, start + 1 + Number(wordAt(words, start)))
}
