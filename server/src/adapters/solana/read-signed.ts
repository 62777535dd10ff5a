import { AppError } from '../../core/domain/errors.ts'
import type { SignedTransaction } from '../../swap/ports/swap-chain.ts'
import { tokenPrograms } from './account-rights.ts'
import { refuseFee } from './aggregator-swap.ts'
import { loadAddresses } from './lookup-tables.ts'
import type { SolanaNodes } from './nodes.ts'
import { readAction } from './read-action.ts'
import {
  type DecodedTransaction,
  decodeTransaction,
  type Instruction,
  type LoadedAddresses,
  TRANSACTION_BYTES_MAX,
} from './transaction.ts'

const invalid = (reason: string): AppError =>
  new AppError('RAW_TX_INVALID', `the signed transaction cannot be used: ${reason}`)

const TEXT_MAX = 4 * Math.ceil(TRANSACTION_BYTES_MAX / 3)

/** Reads base64 of a signed transaction. Asks the nodes only for the tables of lookups. Throws RAW_TX_INVALID. */
export async function readSigned(nodes: SolanaNodes, raw: string): Promise<SignedTransaction> {
  const bytes = bytesOf(raw)
  const transaction = decode(bytes)
  if (!transaction.hasValidSignatures) throw invalid('a signature is missing or wrong')
  if (transaction.lookups.length === 0) return toSendable(transaction)
  const loaded = await loadAddresses(nodes, transaction.lookups)
  // Whom it pays would not be known before it is sent.
  if (loaded === null) throw invalid('a lookup table that it names does not have the account, or not finally')
  return toSendable(decode(bytes, loaded))
}

function toSendable(transaction: DecodedTransaction): SignedTransaction {
  const signed = toSigned(transaction)
  const refusal = signed.action?.kind === 'swap' ? refuseFee(signed.signer, transaction.instructions) : null
  if (refusal !== null) throw invalid(refusal)
  return signed
}

/** The recent block that a signed transaction names. Throws RAW_TX_INVALID. */
export const readRecentBlock = (raw: string): string => decode(bytesOf(raw)).blockhash

function bytesOf(raw: string): Buffer {
  if (raw.length > TEXT_MAX) throw invalid(`it is longer than ${TRANSACTION_BYTES_MAX} bytes`)
  const bytes = Buffer.from(raw, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== raw) throw invalid('it is not base64')
  return bytes
}

function decode(bytes: Buffer, loaded?: LoadedAddresses): DecodedTransaction {
  try {
    return decodeTransaction(bytes, loaded)
  } catch (cause) {
    throw invalid(`it cannot be decoded: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

export function toSigned({ hash, signers, keys, blockhash, instructions }: DecodedTransaction): SignedTransaction {
  const [signer = ''] = signers
  const swap = signers.length === 1 ? readAction(signer, instructions) : null
  return {
    ...{ hash, signer, nonce: null, recentBlock: blockhash },
    targets: keys.filter((key) => key !== signer),
    action: swap ?? (instructions.some(grantsRight) ? { kind: 'unsupported-approval' } : null),
  }
}

/** Approve, SetAuthority and ApproveChecked of the token programs, and Batch, which may contain them. */
const granting: ReadonlySet<number | undefined> = new Set([4, 6, 13, 255])

/** Whether an instruction gives somebody a right to a token account. */
const grantsRight = ({ program, data }: Instruction): boolean => tokenPrograms.has(program) && granting.has(data[0])
