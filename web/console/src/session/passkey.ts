import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import type { AdminSession } from '@swapyard/schema'
import { post, postOnce } from '../api/client.ts'

export const hasPasskeys = browserSupportsWebAuthn

type Challenge = Readonly<{ challengeId: string; options: PublicKeyCredentialRequestOptionsJSON }>

async function prove(optionsPath: string, path: string): Promise<AdminSession> {
  const { challengeId, options: optionsJSON } = await postOnce<Challenge>(optionsPath)
  const response = await startAuthentication({ optionsJSON })
  return postOnce<AdminSession>(path, { challengeId, response })
}

export const logInByPasskey = () => prove('/admin/v1/login/passkey-options', '/admin/v1/login/passkey')
export const confirmByPasskey = () => prove('/admin/v1/session/passkey-options', '/admin/v1/session/passkey')

type NewChallenge = Readonly<{ challengeId: string; options: PublicKeyCredentialCreationOptionsJSON }>

export async function addPasskey(name: string): Promise<void> {
  const { challengeId, options: optionsJSON } = await post<NewChallenge>('/admin/v1/passkeys/options')
  const response = await startRegistration({ optionsJSON })
  await post('/admin/v1/passkeys/add', { challengeId, response, name })
}
