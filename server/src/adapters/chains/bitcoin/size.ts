import type { BitcoinParameters } from '../../../core/domain/network.ts'
import { hasSegwit } from './address.ts'

/** Outpoint, script length, sequence. */
const INPUT_BYTES = 32 + 4 + 1 + 4
/** A DER signature of maximum length with its hash type, and a compressed key; each has a length prefix. */
const UNLOCK_BYTES = 1 + 72 + 1 + 33
/** Version and lock time. */
const FRAME_BYTES = 4 + 4
/** Count of the witness items. */
const WITNESS_COUNT_BYTES = 1
/** Marker and flag, BIP-144. */
const SEGWIT_FLAG_BYTES = 2

/** The maximum size in virtual bytes (BIP-141) of a transaction that spends `inputs` of our UTXOs. */
export function transferSize(
  parameters: BitcoinParameters,
  inputs: number,
  outputScriptLengths: readonly number[],
): bigint {
  const outputs = outputScriptLengths.reduce((bytes, length) => bytes + 8 + compactSize(length) + length, 0)
  const frame = FRAME_BYTES + compactSize(inputs) + compactSize(outputScriptLengths.length) + outputs
  if (!hasSegwit(parameters)) return BigInt(frame + inputs * (INPUT_BYTES + UNLOCK_BYTES))
  const weight = 4 * (frame + inputs * INPUT_BYTES) + SEGWIT_FLAG_BYTES + inputs * (WITNESS_COUNT_BYTES + UNLOCK_BYTES)
  return BigInt(Math.ceil(weight / 4))
}

/** Virtual bytes of one more input, rounded up. */
export function inputSize(parameters: BitcoinParameters): bigint {
  const unlock = hasSegwit(parameters) ? Math.ceil((WITNESS_COUNT_BYTES + UNLOCK_BYTES) / 4) : UNLOCK_BYTES
  return BigInt(INPUT_BYTES + unlock)
}

/** Length of our own output script: P2WPKH or P2PKH. */
export function ownScriptLength(parameters: BitcoinParameters): number {
  return hasSegwit(parameters) ? 22 : 25
}

function compactSize(count: number): number {
  if (count < 0xfd) return 1
  return count <= 0xffff ? 3 : 5
}
