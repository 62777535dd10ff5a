import type { AdminActionName, AdminActionResult, AdminRow } from '@swapyard/schema'
import { useQuery } from '@tanstack/react-query'
import { get, post } from './client.ts'
import { useList } from './reads.ts'

export type Action = Omit<AdminRow<'actions'>, 'action'> & Readonly<{ action: AdminActionName }>
export type ActionField = Readonly<{
  name: string
  type: 'string' | 'integer' | 'boolean' | 'array'
  description: string
  required: boolean
  values: readonly string[] | null
  example: string
  minimum: number | null
  maximum: number | null
  maxLength: number | null
}>
export type ActionDescription = Readonly<{ description: string; fields: readonly ActionField[] }>

/** An action with its role; null while the list is loaded. */
export function useAction(action: AdminActionName): Action | null {
  const { data } = useList('actions')
  return (data?.data.find((one) => one.action === action) as Action | undefined) ?? null
}

type Member = Readonly<{
  type: ActionField['type']
  description?: string
  enum?: readonly string[]
  examples?: readonly unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
}>
type Operation = Readonly<{
  description: string
  requestBody: {
    content: {
      'application/json': { schema: { properties: Readonly<Record<string, Member>>; required?: readonly string[] } }
    }
  }
}>
type OpenApi = Readonly<{ paths: Readonly<Record<string, Readonly<{ post?: Operation }>>> }>

/** Every action asks for these in the same form. */
const COMMON = new Set(['reason', 'preview'])

function toField([name, member]: [string, Member], required: readonly string[]): ActionField {
  const [example = ''] = member.examples ?? []
  return {
    name,
    type: member.type,
    description: member.description ?? '',
    required: required.includes(name),
    values: member.enum ?? null,
    example: Array.isArray(example) ? example.join(', ') : String(example),
    minimum: member.minimum ?? null,
    maximum: member.maximum ?? null,
    maxLength: member.maxLength ?? null,
  }
}

export function describeAction({ paths }: OpenApi, path: string): ActionDescription | null {
  const operation = paths[path]?.post
  if (!operation) return null
  const { properties, required = [] } = operation.requestBody.content['application/json'].schema
  const members = Object.entries(properties).filter(([name]) => !COMMON.has(name))
  const [description = ''] = operation.description.split('\n')
  return { description, fields: members.map((member) => toField(member, required)) }
}

/** The arguments of an action, by the OpenAPI document that the server serves. */
export const useActionDescription = (path: string | null) =>
  useQuery({
    queryKey: ['openapi'],
    queryFn: () => get<OpenApi>('/admin/openapi.json'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: path !== null,
    select: (document) => (path === null ? null : describeAction(document, path)),
  })

type Asked = Readonly<{ path: string; body: object; preview: boolean }>

export const askFor = ({ path, body, preview }: Asked): Promise<AdminActionResult> =>
  post<AdminActionResult>(path, preview ? { ...body, preview } : body)
