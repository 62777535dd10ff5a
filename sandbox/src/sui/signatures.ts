import { parseSerializedSignature } from '@mysten/sui/cryptography'
import { normalizeSuiAddress, toBase64 } from '@mysten/sui/utils'
import { verifyTransactionSignature } from '@mysten/sui/verify'
import { invalidArgument } from './grpc-error.ts'
import type { TransactionBody } from './transaction-body.ts'

/** zkLogin needs the keys of its providers, which a simulator does not have. */
const unsupportedSchemes = ['ZkLogin']

const refuse = (reason: string) => invalidArgument(`Invalid user signature: ${reason}`)

function requireSupported(signature: string): void {
  let scheme: string
  try {
    scheme = parseSerializedSignature(signature).signatureScheme
  } catch (error) {
    throw refuse(`Invalid signature was given to the function: ${(error as Error).message}`)
  }
  if (unsupportedSchemes.includes(scheme)) throw refuse(`this simulator does not verify ${scheme} signatures`)
}

async function recoverSigner(bytes: Uint8Array, signature: string): Promise<string> {
  requireSupported(signature)
  try {
    return (await verifyTransactionSignature(bytes, signature)).toSuiAddress()
  } catch (error) {
    throw refuse(`Signature is not valid: ${(error as Error).message}`)
  }
}

/** Every signer signs once, in any order: the sender, and the sponsor if another address pays for the gas. */
export async function requireSignatures(
  { sender, gasData }: TransactionBody,
  bytes: Uint8Array,
  signatures: readonly Uint8Array[],
): Promise<void> {
  const required = [...new Set([sender, gasData.owner])]
  if (signatures.length !== required.length)
    throw refuse(`Expect ${required.length} signer signatures but got ${signatures.length}`)
  const signers: string[] = []
  for (const signature of signatures) signers.push(normalizeSuiAddress(await recoverSigner(bytes, toBase64(signature))))
  for (const signer of required)
    if (!signers.includes(signer))
      throw refuse(`Required Signature from ${signer} is absent ${JSON.stringify(signers)}`)
}
