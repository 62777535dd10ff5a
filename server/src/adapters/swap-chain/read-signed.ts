import { secp256k1 } from '@noble/curves/secp256k1.js'
import {
  type Hex,
  hexToBytes,
  keccak256,
  numberToHex,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem'
import { AppError } from '../../core/domain/errors.ts'
import type { SignedTransaction } from '../../swap/ports/swap-chain.ts'
import { addressOfKey } from '../chains/evm/address.ts'
import { decodeAction } from './decode-action.ts'

/** Size limit of nodes (geth: 128 KiB). */
const BYTES_MAX = 131_072
/** EIP-2: half the order of secp256k1. A high s would give one transaction a second hash. */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

type Parsed = ReturnType<typeof parse>

/** Reads a signed transaction of this chain. Throws RAW_TX_INVALID and TX_CHAIN_MISMATCH. */
export function readSigned(chainId: number, raw: string): SignedTransaction & Readonly<{ nonce: number }> {
  const signed = bytesOf(raw)
  const { unsigned, recovery, r, s } = parse(signed)
  const { to, nonce = 0, value = 0n, data: input = '0x' } = unsigned
  const signer = recover({ unsigned, recovery, r, s })
  if (unsigned.chainId !== chainId) {
    const own = unsigned.chainId === undefined ? 'no chain id' : `chain id ${unsigned.chainId}`
    throw new AppError('TX_CHAIN_MISMATCH', `the transaction is signed for ${own}, not for ${chainId}`)
  }
  const target = to?.toLowerCase() ?? null
  return {
    hash: keccak256(signed),
    signer,
    nonce,
    targets: target === null ? [] : [target],
    recentBlock: null,
    action: decodeAction(target, input, value),
  }
}

function bytesOf(raw: string): Hex {
  if (raw.length > 2 + 2 * BYTES_MAX) throw invalid('it is longer than 128 KiB')
  if (raw.length < 4 || raw.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(raw))
    throw invalid('it is not hexadecimal bytes')
  return raw.toLowerCase() as Hex
}

/** Fields and signature. Input that does not serialize to the same bytes is refused: leading zeros, trailing bytes. */
function parse(signed: Hex) {
  const parsed = attempt(() => parseTransaction(signed), 'it cannot be decoded')
  const { r, s, v, yParity, ...fields } = parsed as typeof parsed & Signature
  if (r === undefined || s === undefined) throw invalid('it is not signed')
  if (fields.type === 'eip4844') throw invalid('blob transactions are not supported')
  // Whatever it calls, it can lend the signer's account to any contract (D8).
  if (fields.type === 'eip7702') throw invalid('it changes the code of an account (EIP-7702)')
  const unsigned = fields as TransactionSerializable & { data?: Hex; to?: string | null }
  const signature = { r, s, ...(v === undefined ? {} : { v }), ...(yParity === undefined ? {} : { yParity }) }
  const serialized = attempt(() => serializeTransaction(unsigned, signature as never), 'its signature cannot be read')
  if (serialized.toLowerCase() !== signed) throw invalid('it is not in canonical form')
  const recovery = fields.type === 'legacy' ? ((v ?? 27n) + 1n) % 2n : BigInt(yParity ?? 0)
  return { unsigned, r: BigInt(r), s: BigInt(s), recovery }
}

type Signature = Readonly<{ r?: Hex; s?: Hex; v?: bigint; yParity?: number }>

function recover({ unsigned, recovery, r, s }: Parsed): string {
  if (s > S_MAX) throw invalid('its signature has a high s (EIP-2)')
  return attempt(() => {
    const digest = hexToBytes(keccak256(serializeTransaction(unsigned)))
    const signature = hexToBytes(
      `0x${numberToHex(recovery, { size: 1 }).slice(2)}${numberToHex(r, { size: 32 }).slice(2)}${numberToHex(s, { size: 32 }).slice(2)}`,
    )
    return addressOfKey(secp256k1.recoverPublicKey(signature, digest, { prehash: false })).toLowerCase()
  }, 'its signature is not valid')
}

function attempt<T>(work: () => T, problem: string): T {
  try {
    return work()
  } catch (cause) {
    throw invalid(problem, cause)
  }
}

function invalid(problem: string, cause?: unknown): AppError {
  return new AppError('RAW_TX_INVALID', `the signed transaction cannot be used: ${problem}`, { cause })
}
