import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import type { ActionField } from '../api/actions.ts'
import { CodeText } from '../format/code-text.tsx'
import { nameOf } from './outcome.tsx'

const REASON_MAX = 500

export const ReasonInput = () => (
  <Textarea
    name="reason"
    label="Reason"
    description="Stored in the audit log with your login."
    required
    maxLength={REASON_MAX}
    autosize
    minRows={2}
  />
)

/** The input of one argument, by its schema. */
export function ActionInput({ field, initial }: Readonly<{ field: ActionField; initial: string }>) {
  const { name, type, description, required, values, example, minimum, maximum, maxLength } = field
  const common = {
    ...{ name, label: nameOf(name), required, defaultValue: initial },
    description: <CodeText text={type === 'array' ? `${description} One a line.` : description} />,
  }
  if (values) return <NativeSelect {...common} data={[...(required ? [] : ['']), ...values]} />
  // Absent, true and false differ.
  if (type === 'boolean')
    return <NativeSelect {...common} data={['', { value: 'true', label: 'yes' }, { value: 'false', label: 'no' }]} />
  if (type === 'array') return <Textarea {...common} placeholder={example} autosize />
  return (
    <TextInput
      {...common}
      placeholder={example}
      autoComplete="off"
      spellCheck={false}
      {...(type === 'integer' ? { type: 'number', min: minimum ?? 0, max: maximum ?? undefined, step: 1 } : {})}
      {...(maxLength === null ? {} : { maxLength })}
    />
  )
}

const toValue = (text: string, { type }: ActionField): unknown => {
  if (type === 'integer') return Number.parseInt(text, 10)
  if (type === 'boolean') return text === 'true'
  if (type !== 'array') return text.trim()
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The body of the action. Empty inputs are absent, which changes nothing; a list that the operator has cleared is empty. */
export function readArguments(
  form: HTMLFormElement,
  fields: readonly ActionField[],
  initial: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const data = new FormData(form)
  const given: Record<string, unknown> = { reason: String(data.get('reason') ?? '').trim() }
  for (const field of fields) {
    const text = String(data.get(field.name) ?? '').trim()
    const isCleared = text === '' && field.type === 'array' && (initial[field.name] ?? '') !== ''
    if (text !== '' || isCleared) given[field.name] = toValue(text, field)
  }
  return given
}
