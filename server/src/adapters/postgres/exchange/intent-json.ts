import type { SignIntent } from '../../../exchange/ports/signer.ts'

/** JSON has no bigint: units travel as `{"$units": "123"}`. */
const MARK = '$units'

export function toIntentJson(intent: SignIntent): unknown {
  return JSON.parse(
    JSON.stringify(intent, (_key, value: unknown) =>
      typeof value === 'bigint' ? { [MARK]: value.toString() } : value,
    ),
  )
}

export function fromIntentJson(stored: unknown): SignIntent {
  return JSON.parse(JSON.stringify(stored), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && MARK in value ? BigInt(String(value[MARK])) : value,
  ) as SignIntent
}
