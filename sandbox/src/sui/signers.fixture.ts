import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { PasskeyKeypair, type PasskeyProvider } from '@mysten/sui/keypairs/passkey'
import { getZkLoginSignature, toZkLoginPublicIdentifier } from '@mysten/sui/zklogin'

/** A passkey whose device is a key in memory: it signs what a browser's authenticator signs. */
export function createPasskey(): Promise<PasskeyKeypair> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const authenticatorData = Buffer.alloc(37, 5)
  const provider = {
    create: async () => ({
      rawId: new ArrayBuffer(8),
      response: { getPublicKey: () => publicKey.export({ type: 'spki', format: 'der' }) },
    }),
    async get(challenge: Uint8Array) {
      const text = Buffer.from(challenge).toString('base64url')
      const clientDataJSON = Buffer.from(
        JSON.stringify({ type: 'webauthn.get', challenge: text, origin: 'https://wallet.example' }),
      )
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()])
      return { response: { authenticatorData, clientDataJSON, signature: sign('sha256', signed, privateKey) } }
    },
  }
  return PasskeyKeypair.getPasskeyInstance(provider as unknown as PasskeyProvider)
}

const issuer = 'https://accounts.example.com'
const addressSeed = '13322897930163218532266430409510394316985274769125667290600321564259466511711'

/** The claim of the issuer as it stands in a token, in base64url. */
function issuerClaim() {
  const payload = Buffer.from(`{"iss":"${issuer}","sub":"1"}`).toString('base64url')
  // The claim begins with the second byte: in the middle of the second digit.
  const claimBytes = `"iss":"${issuer}",`.length
  return { value: payload.slice(1, Math.ceil(((1 + claimBytes) * 8) / 6)), indexMod4: 1 }
}

/** A zkLogin account, whose signatures have the form of real ones and a proof that proves nothing. */
export function createZkLogin() {
  const ephemeral = Ed25519Keypair.generate()
  const inputs = {
    proofPoints: {
      a: ['1', '2', '1'],
      b: [
        ['1', '2'],
        ['3', '4'],
        ['1', '0'],
      ],
      c: ['1', '2', '1'],
    },
    ...{ issBase64Details: issuerClaim(), headerBase64: 'eyJhbGciOiJSUzI1NiJ9', addressSeed },
  }
  const publicKey = toZkLoginPublicIdentifier(BigInt(addressSeed), issuer, { legacyAddress: false })
  return {
    publicKey,
    address: publicKey.toSuiAddress(),
    async sign(bytes: Uint8Array): Promise<string> {
      const { signature } = await ephemeral.signTransaction(bytes)
      return getZkLoginSignature({ inputs, maxEpoch: '10', userSignature: signature })
    },
  }
}
