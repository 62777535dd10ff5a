import type { Signer } from '@mysten/sui/cryptography'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Secp256k1Keypair } from '@mysten/sui/keypairs/secp256k1'
import { Secp256r1Keypair } from '@mysten/sui/keypairs/secp256r1'
import { MultiSigPublicKey } from '@mysten/sui/multisig'
import { Transaction } from '@mysten/sui/transactions'
import { fromBase64, toBase64 } from '@mysten/sui/utils'
import { expect, test } from 'vitest'
import { createPasskey, createZkLogin } from './signers.fixture.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'

const recipient = `0x${'c'.repeat(64)}`

/** A payment of 1 MIST from an address with one coin. */
async function startPayment(address: string) {
  const { node, client } = await startTestNode()
  node.mint(address, SUI)
  const transaction = new Transaction()
  transaction.setSender(address)
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1n])], recipient)
  const bytes = await transaction.build({ client })
  return {
    bytes,
    send: (signature: string) => client.executeTransaction({ transaction: bytes, signatures: [signature] }),
    readPaid: () => node.readBalance(recipient, '0x2::sui::SUI'),
  }
}

/** The last byte that a key has signed with, changed. */
function alter(signature: string, place: number): string {
  const bytes = fromBase64(signature)
  bytes[place] = (bytes[place] ?? 0) ^ 1
  return toBase64(bytes)
}

const refusal = (reason: RegExp) => ({
  code: 'INVALID_ARGUMENT',
  message: expect.stringMatching(new RegExp(`Invalid user signature: .*${reason.source}`)),
})

const signers: readonly (readonly [string, () => Signer | Promise<Signer>])[] = [
  ['ed25519', () => Ed25519Keypair.generate()],
  ['secp256k1', () => Secp256k1Keypair.generate()],
  ['secp256r1', () => Secp256r1Keypair.generate()],
  ['a passkey', createPasskey],
]

test.for(signers)(
  'accepts a signature of %s, and refuses one that was altered or is of another key',
  async ([, create]) => {
    const [signer, stranger] = [await create(), await create()]
    const { bytes, send, readPaid } = await startPayment(signer.toSuiAddress())
    const { signature } = await signer.signTransaction(bytes)
    // Of the signature: before the 33 bytes of the key, or the 32 of ed25519.
    await expect(send(alter(signature, fromBase64(signature).length - 40))).rejects.toMatchObject(refusal(/not valid/))
    const foreign = (await stranger.signTransaction(bytes)).signature
    await expect(send(foreign)).rejects.toMatchObject(refusal(/Required Signature from .* is absent/))
    expect(readPaid()).toBe(0n)
    await send(signature)
    expect(readPaid()).toBe(1n)
  },
)

test('accepts a multisig of keys of all schemes whose weights reach the threshold', async () => {
  const keys = await Promise.all(signers.map(([, create]) => create()))
  const weights = [1, 1, 1, 2]
  const group = MultiSigPublicKey.fromPublicKeys({
    threshold: 3,
    publicKeys: keys.map((key, n) => ({ publicKey: key.getPublicKey(), weight: weights[n] ?? 0 })),
  })
  const { bytes, send, readPaid } = await startPayment(group.toSuiAddress())
  const signatures = await Promise.all(keys.map(async (key) => (await key.signTransaction(bytes)).signature))
  const combine = (...places: number[]) => group.combinePartialSignatures(places.map((n) => signatures[n] ?? ''))
  await expect(send(combine(0, 1))).rejects.toMatchObject(refusal(/not valid/))
  await expect(send(combine(3))).rejects.toMatchObject(refusal(/not valid/))
  expect(readPaid()).toBe(0n)
  await send(combine(2, 3))
  expect(readPaid()).toBe(1n)
})

test('refuses zkLogin, alone and within a multisig: its providers cannot be asked', async () => {
  const zkLogin = createZkLogin()
  const alone = await startPayment(zkLogin.address)
  await expect(alone.send(await zkLogin.sign(alone.bytes))).rejects.toMatchObject(refusal(/does not verify ZkLogin/))
  expect(alone.readPaid()).toBe(0n)

  const group = MultiSigPublicKey.fromPublicKeys({
    threshold: 1,
    publicKeys: [
      { publicKey: zkLogin.publicKey, weight: 1 },
      { publicKey: Ed25519Keypair.generate().getPublicKey(), weight: 1 },
    ],
  })
  const grouped = await startPayment(group.toSuiAddress())
  const combined = group.combinePartialSignatures([await zkLogin.sign(grouped.bytes)])
  await expect(grouped.send(combined)).rejects.toMatchObject(refusal(/not valid/))
  expect(grouped.readPaid()).toBe(0n)
})

test.for([
  ['no bytes', ''],
  ['an unknown flag', toBase64(Uint8Array.of(9, ...new Uint8Array(96)))],
  ['a truncated signature', toBase64(new Uint8Array(20))],
  ['a passkey without a challenge', toBase64(Uint8Array.of(6, 1, 1, 2, 123, 125, 1, 2))],
] as const)('refuses %s', async ([, signature]) => {
  const { send } = await startPayment(Ed25519Keypair.generate().toSuiAddress())
  await expect(send(signature)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})
