import Testing

/// One at a time: they start other programs, which inherit what is open then.
@Suite(.serialized) enum WholeAppTests {}
