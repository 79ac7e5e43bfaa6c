// Shows the token of the front: the suite itself knows of no tokens, and the front lets in nobody
// without one. Loaded before the suite by `node --import`.
import { createRequire } from 'node:module';
import http from 'node:http';

const shown = `Bearer ${process.env.LINESHAFT_SERVE_TOKEN}`;
const fetched = globalThis.fetch;
globalThis.fetch = (input, init = {}) => {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set('Authorization', shown);
  return fetched(input, { ...init, headers });
};
const requested = http.request;
http.request = (...given) => {
  const request = requested(...given);
  request.setHeader('Authorization', shown);
  return request;
};
const undici = createRequire(process.argv[1])('undici');
const asked = (dispatch) => (options, handler) => {
  const given = options.headers;
  if (Array.isArray(given)) {
    const has = given.some((each) => String(each).toLowerCase() === 'authorization');
    return dispatch(has ? options : { ...options, headers: [...given, 'Authorization', shown] }, handler);
  }
  if (given && typeof given[Symbol.iterator] === 'function') return dispatch(options, handler);
  return dispatch({ ...options, headers: { ...given, Authorization: shown } }, handler);
};
undici.setGlobalDispatcher(undici.getGlobalDispatcher().compose(asked));
