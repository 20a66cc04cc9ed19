/** Kilograms as people read them. */
export const kilograms = (kg) => kg.toFixed(2);

/** Fields as one line. */
export const row = (...fields) => fields.join('\t');

/** A reading as it stands in a log. */
export const reading = ({ time, kg }) => `${time};${kg.toFixed(3)}`;
