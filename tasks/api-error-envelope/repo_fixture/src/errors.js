/** A refusal: something the client asked for that we will not do. `code` is for programs, `message` for people. */
export class ApiError extends Error {
  constructor(status, code, message, headers = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const malformedBody = (why) => new ApiError(400, 'malformed-body', why);

export const noSuchRoute = (path) => new ApiError(404, 'no-such-route', `nothing lives at ${path}`);

export const unknown = (kind, id) => new ApiError(404, `${kind}-unknown`, `there is no ${kind} ${id}`);

export const wrongMethod = (method, allowed) =>
  new ApiError(405, 'wrong-method', `${method} is not possible here`, { allow: allowed.join(', ') });

export const onLoan = (tool, due) => new ApiError(409, 'tool-on-loan', `${tool.name} is out until ${due}`);

export const badField = (field, why) => new ApiError(422, `bad-${field}`, `${field} ${why}`);

/** What a client learns of an error that is ours: nothing but that it happened. */
export const internal = () => new ApiError(500, 'internal', 'something broke at our end');
